import { Screen } from '../../examples/tour/screen.js'

/** Keeps a tour off the test's output. */
export class QuietScreen extends Screen {
  readonly shown: string[] = []
  override title(): void {}
  override step(): void {}
  override asked(): void {}
  override answered(): void {}
  override shows(text: string): void {
    this.shown.push(text)
  }
}
