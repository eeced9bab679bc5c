import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { keepsServers, levelDirectory } from './keptServers.ts';
import { freePorts, keepForNextFile, start, whenReady } from './process.ts';

const MOTO = fileURLToPath(new URL('../lab/moto.sh', import.meta.url));

/** A server that answers as AWS. Its state is in memory. */
export interface Aws {
  /** http://127.0.0.1:port, for every service. */
  readonly url: string;
  /** The variables that the AWS SDKs of any language read. The keys are no secrets: moto takes any. */
  readonly environment: Readonly<Record<string, string>>;
  /** The same for a client of the AWS SDK in the test itself. */
  readonly client: AwsClientOptions;
  stop(): Promise<void>;
}

/** Options of each client of the AWS SDK. */
interface AwsClientOptions {
  readonly endpoint: string;
  readonly region: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
}

const REGION = 'eu-west-1';
const KEY = 'test';

/** Idle servers of this worker that earlier files have returned. */
const idle: Started[] = [];

interface Started {
  readonly url: string;
  /** Ends it, and removes its log. */
  end(): Promise<void>;
}

/**
 * A server of moto, which test/lab/moto.sh has installed, with nothing in it. Where a level keeps servers (see keptServers.ts), it may be the
 * one of an earlier file; otherwise it is started, which takes about 2 s of a processor.
 *
 * @throws Error with the end of its log
 */
export async function startAws(): Promise<Aws> {
  const started = idle.pop() ?? (await startMoto());
  const { url } = started;
  const credentials = { accessKeyId: KEY, secretAccessKey: KEY };
  const client = { endpoint: url, region: REGION, credentials };
  return { url, environment: environmentOf(url), client, stop: () => giveBack(started) };
}

async function giveBack(started: Started): Promise<void> {
  if (!keepsServers()) return started.end();
  const answer = await fetch(`${started.url}/moto-api/reset`, { method: 'POST' });
  if (!answer.ok) throw new Error(`moto is not empty: ${answer.status} ${await answer.text()}`);
  idle.push(started);
}

async function startMoto(): Promise<Started> {
  const directory = await mkdtemp(join(levelDirectory(), 'traffic-aws-'));
  const [port] = (await freePorts(1)) as [number];
  const running = start(MOTO, ['-H', '127.0.0.1', '-p', String(port)], join(directory, 'moto.log'));
  const url = `http://127.0.0.1:${port}`;
  const end = async (): Promise<void> => {
    await running.stop();
    await rm(directory, { recursive: true, force: true });
  };
  try {
    await whenReady('moto', running, async () => (await fetch(`${url}/moto-api/data.json`)).ok);
  } catch (error) {
    await end();
    throw error;
  }
  if (keepsServers()) keepForNextFile(running);
  return { url, end };
}

function environmentOf(url: string): Record<string, string> {
  return {
    AWS_ENDPOINT_URL: url,
    AWS_REGION: REGION,
    AWS_DEFAULT_REGION: REGION,
    AWS_ACCESS_KEY_ID: KEY,
    AWS_SECRET_ACCESS_KEY: KEY,
    AWS_EC2_METADATA_DISABLED: 'true',
  };
}
