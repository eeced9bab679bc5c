import { get, type Agent } from 'node:http';

/** One replica. */
export interface Target {
  readonly host: string;
  readonly port: number;
}

/** @returns whether the response came within the time, with status 200 and all its bytes; never throws */
export function request(target: Target, bytes: number, agent: Agent, timeoutMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const sent = get({ ...target, path: `/${bytes}`, agent }, (response) => {
      let received = 0;
      response.on('data', (chunk: Buffer) => (received += chunk.length));
      response.on('close', () => finish(response.complete && response.statusCode === 200 && received === bytes));
      response.on('error', () => finish(false));
    });
    const timeout = setTimeout(() => sent.destroy(new Error('timeout')), timeoutMs);
    const finish = (isAnswered: boolean): void => {
      clearTimeout(timeout);
      resolve(isAnswered);
    };
    sent.on('error', () => finish(false));
  });
}
