import { expect, it } from 'vitest';
import { reportSchema } from './report.ts';

const report = (addresses: string[]) => ({
  report_interval: 15,
  nodename: 'n',
  podname: 'p',
  ips: { 'kube-ipvs0': addresses },
});
const services = (count: number) => Array.from({ length: count }, (_, n) => `10.96.${n >> 8}.${n & 255}/32`);

it('a report has the addresses of all Services, which kube-proxy with IPVS gives one interface', () => {
  expect(reportSchema.parse(report(services(4_096))).ips?.['kube-ipvs0']).toHaveLength(4_096);
  const { error } = reportSchema.safeParse(report(services(4_097)));
  expect(error?.issues.map(({ path, message }) => `${path.join('.')} ${message}`)).toEqual([
    'ips.kube-ipvs0 must have at most 4096 entries',
  ]);
});
