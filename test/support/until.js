import { setTimeout as pause } from 'node:timers/promises';
/**
 * Waits for what is about to be so. The time is there to name what a test hangs in, before the test is ended.
 */
export async function until(isSo, withinMs = 100_000, everyMs = 10) {
    for (const end = Date.now() + withinMs; !(await isSo());) {
        if (Date.now() > end)
            throw new TypeError(`it was not so within ${withinMs} ms: ${isSo.toString()}`);
        await pause(everyMs);
    }
}
//# sourceMappingURL=until.js.map