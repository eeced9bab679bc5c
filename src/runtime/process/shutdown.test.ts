import { EventEmitter } from 'node:events';
import { pino } from 'pino';
import { describe, expect, it, vi } from 'vitest';
import { FakeClock } from './clock.ts';
import { shutdownSignal } from './shutdown.ts';

describe('shutdownSignal', () => {
  it.each(['SIGTERM', 'SIGINT'])('is aborted by %s, and does not end the process at once', async (name) => {
    const { signal, signals, exit, clock } = start();
    expect(signal.aborted).toBe(false);
    signals.emit(name);
    expect(signal.aborted).toBe(true);
    await clock.advance(4_499);
    expect(exit).not.toHaveBeenCalled();
  });

  it('ends the process with exit code 0 if it has not stopped after 4.5 s', async () => {
    const { signals, exit, clock } = start();
    signals.emit('SIGTERM');
    await clock.advance(4_500);
    expect(exit).toHaveBeenCalledExactlyOnceWith(0);
  });

  it('ends the process at once at a second signal', () => {
    const { signals, exit } = start();
    signals.emit('SIGINT');
    signals.emit('SIGTERM');
    expect(exit).toHaveBeenCalledExactlyOnceWith(1);
  });
});

function start() {
  const clock = new FakeClock();
  const signals = new EventEmitter();
  const exit = vi.fn();
  const signal = shutdownSignal({ signals, exit, clock, logger: pino({ level: 'silent' }) });
  return { clock, signals, exit, signal };
}
