"""Tables of published papers, computed or trained again: papers, not kinds of study."""
