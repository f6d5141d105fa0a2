"""Engines that call other programs: lme4 in R, statsmodels, mixedlm."""
