/** Milliseconds of the machine's monotonic clock, the same in every thread; performance.now() is not. */
export const clock = (): number => Number(process.hrtime.bigint()) / 1e6;
