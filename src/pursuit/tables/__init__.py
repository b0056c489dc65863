"""Tables as people have them, made numeric: categories, dates, missing values and ids."""
