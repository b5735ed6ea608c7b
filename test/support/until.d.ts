/**
 * Waits for what is about to be so. The time is there to name what a test hangs in, before the test is ended.
 */
export declare function until(isSo: () => boolean | Promise<boolean>, withinMs?: number, everyMs?: number): Promise<void>;
