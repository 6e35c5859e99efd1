"""Campaigns: many damaged inputs and hostile conditions, judged by rules and by other programs' readers. See run."""
