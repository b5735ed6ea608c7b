/**
 * Loaded before oclif, which would otherwise load a parser of version ranges (a tenth of the time that `--help` takes)
 * to compare this Node with the one oclif wants. npm has compared it with `engines` already.
 */
process.env.OCLIF_DISABLE_ENGINE_WARNING ??= '1'
