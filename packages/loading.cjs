'use strict'

/**
 * The ES modules of packages that have two forms, by their names. An application of ES modules loads these, and Ashlar takes the same ones: a
 * second copy would take time and memory.
 */
const forms = {}

/** What is loaded when it is needed: an application of ES modules imports it, another one requires it. */
async function load(imported, required) {
  if (Object.keys(forms).length > 0) return imported()
  const all = loaded(required)
  return 'default' in all ? all : Object.create(all, { default: { value: all } })
}

function loaded(required) {
  try {
    return required()
  } catch (error) {
    // The code that an import has.
    if (error.code === 'MODULE_NOT_FOUND') error.code = 'ERR_MODULE_NOT_FOUND'
    throw error
  }
}

module.exports = { forms, load }
