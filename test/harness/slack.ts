/**
 * A deadline of a goal in seconds is times this. Next to other levels on two cores everything waits for a processor: how long it takes is
 * printed, and no measure there. With GOALS=1 the goals themselves are the deadlines, for a machine that does nothing else.
 */
export const SLACK = process.env.GOALS === undefined ? 6 : 1;

/** For vi.waitFor. @param seconds the goal */
export const within = (seconds: number) => ({ timeout: SLACK * seconds * 1000, interval: 300 });

/** The same for what has begun before. @param begin performance.now() */
export const untilIn = (seconds: number, begin: number) => ({
  timeout: Math.max(0, SLACK * seconds * 1000 - (performance.now() - begin)),
  interval: 300,
});
