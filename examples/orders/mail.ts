export interface Mail {
  readonly to: string
  readonly text: string
}

/** Your mail service. */
export type SendMail = (mail: Mail) => void | Promise<void>
