"""The default engine: linear mixed models as lme4 and lmerTest define them, without R."""
