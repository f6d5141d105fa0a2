"""How long recurrent networks remember: words they read, letters they have to keep."""
