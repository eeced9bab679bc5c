import { beforeEach, expect, it } from 'vitest';
import { type InstantQuery, type PrometheusClient, routedClient } from './prometheusClient.ts';

let log: string[];
let url: string | undefined;
let client: PrometheusClient;

const clientOf = (name: string): PrometheusClient => ({
  query: () => {
    log.push(`asked ${name}`);
    return Promise.resolve({ series: 0, warnings: [], infos: [] });
  },
  close: () => log.push(`closed ${name}`),
});
const ask = () => client.query({} as InstantQuery);

beforeEach(() => {
  [log, url] = [[], undefined];
  client = routedClient(clientOf('own'), () => url, clientOf);
});

it('asks the other Prometheus while it has a URL, over the same connections', async () => {
  await ask();
  url = 'a';
  await ask();
  await ask();
  url = 'b';
  await ask();
  url = undefined;
  await ask();
  expect(log).toEqual(['asked own', 'asked a', 'asked a', 'closed a', 'asked b', 'closed b', 'asked own']);
});

it('closes both', async () => {
  url = 'a';
  await ask();
  client.close();
  expect(log).toEqual(['asked a', 'closed a', 'closed own']);
});

it('rejects a query for an invalid URL', async () => {
  client = routedClient(clientOf('own'), () => 'none');
  await expect(ask()).rejects.toThrow('the URL of Prometheus is invalid');
});
