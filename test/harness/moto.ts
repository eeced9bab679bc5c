import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePorts, start, whenReady } from './process.ts';

const MOTO = fileURLToPath(new URL('../lab/moto.sh', import.meta.url));

/** A server that answers as AWS. Its state is in memory. */
export interface Aws {
  /** http://127.0.0.1:port, for every service. */
  readonly url: string;
  /** What the AWS SDKs read, of any language. The keys are no secrets: moto takes any. */
  readonly environment: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

/** Starts moto's server, which test/lab/moto.sh has installed; takes about 2 s. @throws Error with the end of its log */
export async function startAws(): Promise<Aws> {
  const directory = await mkdtemp(join(tmpdir(), 'traffic-aws-'));
  const [port] = (await freePorts(1)) as [number];
  const running = start(MOTO, ['-H', '127.0.0.1', '-p', String(port)], join(directory, 'moto.log'));
  const url = `http://127.0.0.1:${port}`;
  const stop = async (): Promise<void> => {
    await running.stop();
    await rm(directory, { recursive: true, force: true });
  };
  try {
    await whenReady('moto', running, async () => (await fetch(`${url}/moto-api/data.json`)).ok);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, environment: environmentOf(url), stop };
}

function environmentOf(url: string): Record<string, string> {
  return {
    AWS_ENDPOINT_URL: url,
    AWS_REGION: 'eu-west-1',
    AWS_DEFAULT_REGION: 'eu-west-1',
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_EC2_METADATA_DISABLED: 'true',
  };
}
