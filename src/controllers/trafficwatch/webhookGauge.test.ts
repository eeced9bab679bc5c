import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { registerWebhookGauge } from './webhookGauge.ts';

it.each<[string, boolean | undefined, string[]]>([
  ['is 1 while the webhook is ready', true, ['traffic_operator_placement_webhook_ready 1']],
  ['is 0 while it is not', false, ['traffic_operator_placement_webhook_ready 0']],
  ['is absent without the webhook: a 0 would look like a webhook that is down', undefined, []],
])('traffic_operator_placement_webhook_ready %s', async (_what, ready, series) => {
  const registry = new Registry();
  registerWebhookGauge(registry, () => ready);
  const lines = (await registry.metrics()).split('\n');
  expect(lines.filter((line) => line !== '' && !line.startsWith('#'))).toEqual(series);
});
