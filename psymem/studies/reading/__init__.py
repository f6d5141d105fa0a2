"""Reading studies: how much models' measures explain of people's reading times."""
