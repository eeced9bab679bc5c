import { describe, expect, it, vi } from 'vitest';
import { tellOutage, tellServed } from './answers.ts';
import type { Question, Served } from './client.ts';

const QUESTIONS: readonly Question[] = [
  { at: 'service', name: 'config', urls: ['http://config'] },
  { at: 'service', name: 'control', urls: ['http://control'] },
  { at: 'single', name: 'provmanager', urls: ['http://provmanager'] },
];
const served = (failed: number, answered = ['config', 'control']): Served => ({
  ...{ requests: 40, answered: new Set(answered), retried: 8 },
  failures: Array.from({ length: failed }, () => 'config (wget: timeout)'),
});

/** The printed lines. */
function printed(tell: () => void): string[] {
  const log = vi.spyOn(console, 'log').mockReturnValue();
  try {
    tell();
    return log.mock.calls.map(([line]) => String(line).replace(/^ *\d+ s {2}/, ''));
  } finally {
    log.mockRestore();
  }
}

describe('while all pods are there, or each request can go to another pod', () => {
  it('no request fails twice', () => {
    expect(printed(() => tellServed('service', served(0), QUESTIONS))).toEqual([
      'the client asked the Services 40 times: 8 retries, no failure',
    ]);
    expect(() => tellServed('service', served(1), QUESTIONS)).toThrow(
      'the Services did not answer, nor after a retry: config (wget: timeout)',
    );
  });

  it('each that is asked there answers', () => {
    expect(() => tellServed('service', served(0, ['config']), QUESTIONS)).toThrow(
      'the Services of control did not answer',
    );
  });
});

describe('while a node is off and Kubernetes does not know it', () => {
  it('at most a quarter of the requests may fail', () => {
    expect(printed(() => tellOutage(served(10), QUESTIONS))).toEqual([
      'the client asked the Services 40 times: 8 retries, 10 failures (at most 10)',
    ]);
    expect(() => tellOutage(served(11), QUESTIONS)).toThrow(
      '11 of 40 requests to the Services failed twice, more than 10: config (',
    );
  });

  it('each Service answers', () => {
    expect(() => tellOutage(served(0, ['control']), QUESTIONS)).toThrow('the Services of config did not answer');
  });
});
