"""The demo of ``pursuit demo`` as a script: two real data sets, compared with the lasso; writes to ./demo/."""

from pathlib import Path

from pursuit.demo.study import run

if __name__ == "__main__":
    run(Path("demo"))
