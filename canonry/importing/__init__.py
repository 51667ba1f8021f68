"""`canonry import`: a folder of Markdown as one Review."""
