// Declares the parts of the OpenAPI packages that the tests use. The sources then compile in a checkout with
// older packages, and a build does not have to check the large types of these packages.

declare module 'ajv/dist/2020.js' {
  export interface ValidateFunction {
    (value: unknown): boolean
    errors?:
      readonly { readonly instancePath: string; readonly message?: string; readonly params: object }[] | null
  }
  export class Ajv2020 {
    constructor(options: { strict: boolean; allErrors: boolean })
    addFormat(name: string, format: RegExp | true): this
    addSchema(schema: object): this
    compile(schema: object): ValidateFunction
  }
}

declare module 'ajv-formats' {
  import type { Ajv2020 } from 'ajv/dist/2020.js'
  function addFormats(ajv: Ajv2020): void
  export { addFormats as default }
}

declare module '@redocly/openapi-core' {
  export function createConfig(config: { extends: readonly string[] }): Promise<object>
  export function lintFromString(options: { source: string; absoluteRef: string; config: object }): Promise<
    readonly {
      readonly ruleId: string
      readonly message: string
      readonly location: readonly { readonly pointer?: string }[]
    }[]
  >
}

declare module 'playwright-core' {
  export interface Locator {
    first(): Locator
    nth(index: number): Locator
    locator(selector: string): Locator
    click(): Promise<void>
    fill(text: string): Promise<void>
    count(): Promise<number>
    innerText(): Promise<string>
    filter(options: { hasText: string }): Locator
    evaluate<T>(read: (element: Element) => T): Promise<T>
    waitFor(options?: { state?: 'visible' | 'attached'; timeout?: number }): Promise<void>
  }
  export interface Page {
    on(event: 'console', heard: (message: { type(): string; text(): string }) => void): void
    on(event: 'request', heard: (request: { url(): string; method(): string }) => void): void
    on(event: 'pageerror', heard: (error: Error) => void): void
    goto(url: string, options?: { waitUntil: 'load' | 'networkidle' }): Promise<unknown>
    locator(selector: string): Locator
    screenshot(options: { path: string; fullPage?: boolean }): Promise<unknown>
    evaluate<T>(script: string): Promise<T>
    url(): string
    getByRole(role: string, options?: { name: string | RegExp }): Locator
    getByText(text: string): Locator
    getByLabel(text: string): Locator
    readonly keyboard: { press(key: string): Promise<void>; type(text: string): Promise<void> }
    emulateMedia(media: { colorScheme: 'light' | 'dark' }): Promise<void>
    setViewportSize(size: { width: number; height: number }): Promise<void>
    close(): Promise<void>
  }
  /** A session of the Chrome DevTools Protocol. */
  export interface CDPSession {
    send<T>(method: string, parameters?: object): Promise<T>
    detach(): Promise<void>
  }
  export interface BrowserContext {
    newPage(): Promise<Page>
    newCDPSession(page: Page): Promise<CDPSession>
  }
  export interface Browser {
    newPage(options?: {
      viewport: { width: number; height: number }
      colorScheme?: 'light' | 'dark'
    }): Promise<Page>
    newContext(options: { ignoreHTTPSErrors: boolean; reducedMotion: 'reduce' }): Promise<BrowserContext>
    close(): Promise<void>
  }
  export const chromium: {
    launch(options: { executablePath: string; args: readonly string[]; timeout?: number }): Promise<Browser>
  }
}

declare module 'openapi-typescript' {
  function openapiTS(document: string): Promise<object>
  export { openapiTS as default }
  export function astToString(tree: object): string
}
