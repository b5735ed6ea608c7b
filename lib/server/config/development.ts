/** Returns true if `NODE_ENV` is `development` or `test`. */
export const isDevelopment = (environment: string | undefined = process.env['NODE_ENV']): boolean =>
  environment === 'development' || environment === 'test'
