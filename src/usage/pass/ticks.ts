import { Observable } from 'rxjs';
import type { Clock } from '../../runtime/process/clock.ts';

/** One tick at once and one each `intervalMs` after: rxjs' timer(0, interval), by a clock that a test can move. */
export function ticks(clock: Clock, intervalMs: number): Observable<void> {
  return new Observable((subscriber) => {
    const tick = (): void => {
      timer = clock.setTimeout(tick, intervalMs);
      subscriber.next();
    };
    let timer = clock.setTimeout(tick, 0);
    return () => timer.cancel();
  });
}
