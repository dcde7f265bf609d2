"""The doors: files and other people's formats in, the data model out to files. Stands on polars."""
