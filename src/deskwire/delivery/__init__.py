"""The edge at which events leave: deliveries are claimed, sent to their webhooks, and recorded."""
