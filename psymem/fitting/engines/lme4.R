# Fits one model with lme4 and lmerTest and writes what a Fit needs.
#
# psymem hands over numbers only: the columns of the fixed part (x1, x2, ...), of each random-effects block
# (z1_1, z1_2, ...), codes of its grouping factor (g1, g2, ...) and the response (y). Names, contrasts and level
# orders are therefore those of the other engines, whatever the columns of the table are called.

psymem_read <- function(folder) {
  columns <- readLines(file.path(folder, "columns.txt"))
  path <- file.path(folder, "data.bin")
  numbers <- readBin(path, "double", n = file.size(path) / 8, size = 8, endian = "little")
  data <- as.data.frame(matrix(numbers, ncol = length(columns), dimnames = list(NULL, columns)))
  for (g in grep("^g[0-9]+$", columns, value = TRUE)) data[[g]] <- factor(data[[g]])
  data
}

# Fit, keeping every warning and message that lme4 gives.
psymem_fit <- function(formula, data, reml, family) {
  said <- character()
  keep <- function(condition) {
    said <<- c(said, conditionMessage(condition))
    restart <- if (inherits(condition, "warning")) "muffleWarning" else "muffleMessage"
    invokeRestart(restart)
  }
  model <- withCallingHandlers(
    if (family == "gaussian") lmerTest::lmer(formula, data = data, REML = reml)
    else lme4::glmer(formula, data = data, family = family),
    warning = keep, message = keep
  )
  list(model = model, said = said)
}

psymem_coefficients <- function(model) {
  table <- as.data.frame(coef(summary(model)))
  normal <- inherits(model, "glmerMod")
  data.frame(
    term = rownames(table), estimate = table[["Estimate"]], se = table[["Std. Error"]],
    df = if (normal) Inf else if (is.null(table[["df"]])) NA_real_ else table[["df"]]
  )
}

psymem_blups <- function(model) {
  table <- as.data.frame(lme4::ranef(model, condVar = TRUE))
  data.frame(group = as.character(table$grpvar), term = as.character(table$term),
             level = as.character(table$grp), estimate = table$condval, sd = table$condsd)
}

psymem_facts <- function(model) {
  optinfo <- model@optinfo
  criterion <- logLik(model)
  c(loglik = as.numeric(criterion), parameters = attr(criterion, "df"), sigma = sigma(model),
    singular = as.numeric(lme4::isSingular(model, tol = 1e-4)),
    optimizer_code = if (is.null(optinfo$conv$opt)) 0 else as.numeric(optinfo$conv$opt[1]),
    evaluations = if (is.null(optinfo$feval)) NA else as.numeric(optinfo$feval[1]))
}

psymem_messages <- function(model, said) {
  said <- c(said, model@optinfo$warnings, model@optinfo$conv$lme4$messages)
  unique(gsub("[[:space:]]+", " ", as.character(unlist(said))))
}

# What Satterthwaite's degrees of freedom of any combination of fixed effects are made of: the covariance of the
# variance parameters, and the derivatives of the fixed effects' covariance (one row per parameter, column-major).
psymem_curvature <- function(model, folder) {
  if (!inherits(model, "lmerModLmerTest")) return(invisible(NULL))
  jacobian <- t(vapply(model@Jac_list, as.vector, numeric(length(vcov(model)))))
  psymem_write(as.data.frame(model@vcov_varpar), folder, "varpar.csv")
  psymem_write(as.data.frame(jacobian), folder, "jacobian.csv")
}

psymem_versions <- function() {
  packages <- c("lme4", "lmerTest")
  found <- vapply(packages, function(p) as.character(utils::packageVersion(p)), "")
  data.frame(name = c("R", packages), version = c(paste(R.version$major, R.version$minor, sep = "."), found))
}

psymem_write <- function(table, folder, name) {
  number <- vapply(table, is.numeric, NA)
  table[number] <- lapply(table[number], function(x) sprintf("%.17g", x))
  utils::write.csv(table, file.path(folder, name), row.names = FALSE, fileEncoding = "UTF-8")
}

psymem_report <- function(model, said, folder) {
  keep <- function(condition) {  # vcov() says it when it takes another covariance than the one asked for
    said <<- c(said, conditionMessage(condition))
    invokeRestart("muffleWarning")
  }
  withCallingHandlers({
    psymem_write(psymem_coefficients(model), folder, "coefficients.csv")
    psymem_write(as.data.frame(as.matrix(vcov(model))), folder, "covariance.csv")
  }, warning = keep)
  psymem_write(as.data.frame(lme4::VarCorr(model))[c("grp", "var1", "var2", "vcov", "sdcor")], folder, "variance.csv")
  psymem_write(psymem_blups(model), folder, "random_effects.csv")
  facts <- psymem_facts(model)
  psymem_write(data.frame(fact = names(facts), value = facts), folder, "facts.csv")
  psymem_write(data.frame(theta = lme4::getME(model, "theta")), folder, "theta.csv")
  psymem_write(psymem_versions(), folder, "versions.csv")
  psymem_curvature(model, folder)
  writeLines(enc2utf8(psymem_messages(model, said)), file.path(folder, "messages.txt"), useBytes = TRUE)
}

# The same for a REML fit made elsewhere; `ml` refits it by maximum likelihood.
psymem_report_refit <- function(model, folder, ml) {
  if (ml) model <- lmerTest::as_lmerModLmerTest(lme4::refitML(model))
  psymem_report(model, character(), folder)
}

psymem_main <- function(folder) {
  settings <- readLines(file.path(folder, "settings.txt"))
  fitted <- psymem_fit(stats::as.formula(settings[1]), psymem_read(folder), settings[2] == "TRUE", settings[3])
  psymem_report(fitted$model, fitted$said, folder)
}
