"""The web page. Gradio's telemetry is off before anything imports gradio."""

import os

os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
