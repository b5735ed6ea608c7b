/**
 * Converts `displayName` to `display_name`, as protobuf names fields. Digits stay with the preceding word.
 */
export const snakeCase = (name: string): string =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1_$2')
    .toLowerCase()
