/**
 * Import this before oclif. Otherwise oclif loads a version-range parser to check the Node version, which
 * takes a tenth of the time of `--help`. npm has already checked `engines`.
 */
process.env.OCLIF_DISABLE_ENGINE_WARNING ??= '1'
