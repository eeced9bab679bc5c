import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { ListenOptions, Server } from 'node:net';

/** A server process of a test. */
export interface RunningProcess {
  readonly pid: number;
  /** Resolves when the process has ended, for any reason. */
  readonly ended: Promise<void>;
  /** Throws, with the end of the log, if the process has ended by itself. */
  check(): void;
  /** Sends SIGKILL, because the data of test servers is discarded anyway. Resolves when the process has ended. */
  stop(): Promise<void>;
}

/** Processes that the files of this worker have started, and that have not ended. */
const running = new Set<RunningProcess>();
/** The running processes that serve further files. */
const kept = new WeakSet<RunningProcess>();

/** The process outlives the file of tests that started it: see keptServers.ts. */
export function keepForNextFile(process: RunningProcess): void {
  kept.add(process);
}

/** Ends the processes that a file has left: with a kept API server, the next file would have its objects changed by them. */
export async function endLeftProcesses(): Promise<void> {
  await Promise.all([...running].filter((each) => !kept.has(each)).map((each) => each.stop()));
}

/**
 * Starts a server and appends its output to the file `log`. The server ends with the test process, however that ends:
 * setpriv (util-linux) sets the kernel's parent-death signal, then execs the command with the same pid.
 *
 * @param variables of its environment, in addition to this process's own
 */
export function start(
  command: string,
  args: readonly string[],
  log: string,
  variables: Readonly<Record<string, string>> = {},
): RunningProcess {
  const output = openSync(log, 'a');
  const env = { ...process.env, ...variables };
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', command, ...args], { stdio: ['ignore', output, output], env });
  closeSync(output);
  let failure: string | undefined;
  const ended = new Promise<void>((resolve) => {
    const end = (reason: string): void => {
      failure = reason;
      resolve();
    };
    child.once('exit', (code, signal) => {
      end(`exit code ${code ?? String(signal)}`);
    });
    child.once('error', (error) => {
      end(error.message);
    });
  });
  const started: RunningProcess = {
    pid: child.pid ?? -1,
    ended,
    check: () => {
      if (failure !== undefined) throw new Error(`${command} ended: ${failure}\n${tail(log)}`);
    },
    stop: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
  running.add(started);
  void ended.then(() => running.delete(started));
  return started;
}

function tail(log: string): string {
  return readFileSync(log, 'utf8').split('\n').slice(-20).join('\n');
}

/**
 * Waits until `ready` resolves to true, and polls every 100 ms by default.
 * @throws when the process has ended, or after `timeoutMs` with the last error of `ready` as its cause
 */
export async function whenReady(
  what: string,
  running: RunningProcess,
  ready: () => Promise<boolean>,
  timeoutMs = 120_000,
  everyMs = 100,
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  let last: unknown;
  while (performance.now() < deadline) {
    running.check();
    const answer = await ready().catch((error: unknown) => void (last = error));
    if (answer) return;
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
  throw new Error(`${what} was not ready after ${timeoutMs} ms`, { cause: last });
}

/**
 * Below the kernel's range for automatic ports (net.ipv4.ip_local_port_range), and above 10080, the highest port that
 * `fetch` refuses (https://fetch.spec.whatwg.org/#port-blocking).
 */
const PORTS = { first: 11_000, count: 19_000 };

/**
 * Different TCP ports on loopback. No other test takes them before the server listens, which may be many seconds later:
 * this process holds them for its lifetime.
 */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  while (ports.length < count) {
    const port = PORTS.first + randomInt(PORTS.count);
    if ((await claims(port)) && (await isFree(port))) ports.push(port);
  }
  return ports;
}

/**
 * Claims a port among the test processes, with the name of an abstract socket (unix(7)), which ends with the process.
 */
async function claims(port: number): Promise<boolean> {
  const claim = await listen({ path: `\0traffic-operator-test-port-${port}` });
  claim?.unref();
  return claim !== undefined;
}

async function isFree(port: number): Promise<boolean> {
  const server = await listen({ host: '127.0.0.1', port });
  await new Promise<unknown>((resolve) => (server === undefined ? resolve(undefined) : server.close(resolve)));
  return server !== undefined;
}

/** Undefined if another process listens on it. */
function listen(where: ListenOptions): Promise<Server | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen(where, () => resolve(server));
  });
}
