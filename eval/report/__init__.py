"""Reports: one HTML file that needs nothing else, and Markdown, from the folders of runs."""
