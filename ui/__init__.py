"""The faces of Pincite: command line and web page. The only place that prints or formats for eyes."""
