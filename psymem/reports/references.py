"""What a report cites."""

from __future__ import annotations

REFERENCES = {
    "timkey2023": "Timkey, W., & Linzen, T. (2023). A language model with limited memory capacity captures "
    "interference "
    "in human sentence processing. Findings of the Association for Computational Linguistics: EMNLP 2023.",
    "laurinavichyute2022": "Laurinavichyute, A., & von der Malsburg, T. (2022). Semantic attraction in "
    "sentence "
    "comprehension. Cognitive Science, 46(2), e13086.",
    "bates2015": "Bates, D., Mächler, M., Bolker, B., & Walker, S. (2015). Fitting linear mixed-effects "
    "models using "
    "lme4. Journal of Statistical Software, 67(1), 1–48.",
    "kuznetsova2017": "Kuznetsova, A., Brockhoff, P. B., & Christensen, R. H. B. (2017). lmerTest package: "
    "Tests in "
    "linear mixed effects models. Journal of Statistical Software, 82(13), 1–26.",
    "barr2013": "Barr, D. J., Levy, R., Scheepers, C., & Tily, H. J. (2013). Random effects structure for "
    "confirmatory "
    "hypothesis testing: Keep it maximal. Journal of Memory and Language, 68(3), 255–278.",
    "holm1979": "Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian "
    "Journal of "
    "Statistics, 6(2), 65–70.",
    "hemerik2020": "Hemerik, J., Goeman, J. J., & Finos, L. (2020). Robust testing in generalized linear models by sign "
    "flipping score contributions. Journal of the Royal Statistical Society B, 82(3), 841–864.",
    "goodkind2018": "Goodkind, A., & Bicknell, K. (2018). Predictive power of word surprisal for reading times is a "
    "linear "
    "function of language model quality. Proceedings of the 8th Workshop on Cognitive Modeling and "
    "Computational "
    "Linguistics, 10–18.",
    "huang2023": "Huang, X., Wan, J., Kritikos, I., & Hollenstein, N. (2023). Longer fixations, more computation: "
    "Gaze-guided recurrent neural networks. Findings of the Association for Computational Linguistics: EMNLP 2023.",
    "vanheuven2014": "van Heuven, W. J. B., Mandera, P., Keuleers, E., & Brysbaert, M. (2014). SUBTLEX-UK: A new and "
    "improved word frequency database for British English. Quarterly Journal of Experimental Psychology, 67(6), "
    "1176–1190.",
    "bonett2000": "Bonett, D. G., & Wright, T. A. (2000). Sample size requirements for estimating Pearson, Kendall and "
    "Spearman correlations. Psychometrika, 65(1), 23–28.",
    "schuirmann1987": "Schuirmann, D. J. (1987). A comparison of the two one-sided tests procedure and the power approach "
    "for assessing the equivalence of average bioavailability. Journal of Pharmacokinetics and Biopharmaceutics, 15(6), "
    "657–680.",
    "clark1973": "Clark, H. H. (1973). The language-as-fixed-effect fallacy: A critique of language statistics in "
    "psychological research. Journal of Verbal Learning and Verbal Behavior, 12(4), 335–359.",
    "cousineau2005": "Cousineau, D. (2005). Confidence intervals in within-subject designs: A simpler "
    "solution to Loftus "
    "and Masson's method. Tutorials in Quantitative Methods for Psychology, 1(1), 42–45.",
    "morey2008": "Morey, R. D. (2008). Confidence intervals from normalized data: A correction to Cousineau "
    "(2005). "
    "Tutorials in Quantitative Methods for Psychology, 4(2), 61–64.",
}
"""Key -> reference in APA style."""

ATTRACTION_ONLY = ("timkey2023", "laurinavichyute2022", "barr2013", "schuirmann1987", "clark1973")
"""References of the attraction design; other designs leave them out."""

READING_ONLY = ("goodkind2018", "huang2023", "vanheuven2014", "bonett2000")
"""References of reading studies and of comparisons of fixations."""
