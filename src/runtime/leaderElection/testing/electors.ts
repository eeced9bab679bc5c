import { pino } from 'pino';
import { vi } from 'vitest';
import { FakeClock } from '../../process/clock.ts';
import { LeaderElector, type LeaderElectorOptions, type Leadership } from '../leaderElection.ts';
import { FakeLeases } from './fakeLeases.ts';

/** Electors that share a Lease and, unless told, a clock. */
export class Electorate {
  readonly clock = new FakeClock(Date.UTC(2026, 0, 1));
  readonly server = new FakeLeases();

  /** Starts an elector and lets it make its first attempt. */
  async start(identity: string, options: Partial<LeaderElectorOptions> = {}) {
    const started = vi.fn<(leadership: Leadership) => void>();
    const stopped = vi.fn<() => void>();
    const controller = new AbortController();
    const elector = new LeaderElector({
      transport: this.server.transport(identity, this.clock),
      identity,
      namespace: 'system',
      name: 'lock',
      clock: this.clock,
      logger: pino({ level: 'silent' }),
      onStartedLeading: started,
      onStoppedLeading: stopped,
      ...options,
    });
    const ended = elector.run(controller.signal);
    await this.clock.advance(0);
    const leadership = (): Leadership => started.mock.lastCall![0];
    return { elector, started, stopped, leadership, ended, stop: () => controller.abort() };
  }
}
