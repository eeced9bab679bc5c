import { Observable } from 'rxjs';
import type { Clock } from '../../runtime/process/clock.ts';

/** Emits at once and then every `intervalMs`, like timer(0, intervalMs) of rxjs but with an injected clock. */
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
