"""Rows on a disk: a folder of mapped row blocks with a manifest, or a Parquet file, read block by block."""

from .dataset import OnDisk, open_data

__all__ = ["OnDisk", "open_data"]
