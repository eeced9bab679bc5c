import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { RULE_FILES } from '../../src/controllers/measurement/components/prometheusConfig.ts';
import { allAlerts } from '../../src/controllers/measurement/components/rules/alerts.ts';
import { runbookUrl, RUNBOOKS } from '../../src/controllers/measurement/components/rules/rule.ts';
import { PROMETHEUS, promtool } from './promtool.ts';

const RULES = `${PROMETHEUS}rules/`;
const TESTS = readdirSync(RULES).filter((file) => file.endsWith('.test.yml'));
const ALERTS = allAlerts();

/** How often a text has this word in it. */
function count(text: string, word: string): number {
  return text.split(word).length - 1;
}

describe('the rules', () => {
  it('are taken by promtool with all its lints', async () => {
    const files = [...Object.values(RULE_FILES), 'rules/recording-without-operator.yml'];
    await promtool('check', 'rules', '--lint=all', '--lint-fatal', ...files);
  });

  it.each(TESTS)('hold what %s says', async (file) => {
    await promtool('test', 'rules', `rules/${file}`);
  });

  it.each(ALERTS)('are tried out, both firing and silent: $alert', ({ alert }) => {
    const tests = TESTS.map((file) => readFileSync(`${RULES}${file}`, 'utf8')).join('');
    const [, ...cases] = tests.split(new RegExp(`alertname: ${alert}\\n`));
    const silent = cases.filter((text) => /^\s*exp_alerts: \[\]/.test(text));
    expect([silent.length > 0, silent.length < cases.length]).toEqual([true, true]);
  });
});

describe('the runbooks', () => {
  const text = readFileSync(fileURLToPath(new URL('../../docs/runbooks.md', import.meta.url)), 'utf8');
  const sections = new Map(
    text
      .split(/^## /m)
      .slice(1)
      .map((section) => [section.slice(0, section.indexOf('\n')), section]),
  );

  it('have a section for each alert, in its order, and no other', () => {
    expect([...sections.keys()]).toEqual(ALERTS.map(({ alert }) => alert));
  });

  it.each(ALERTS)('say what $alert means, what it does, how to look and what to do', ({ alert }) => {
    const section = sections.get(alert)!;
    for (const part of ['**Meaning.**', '**Impact.**', '**Diagnosis.**', '**Mitigation.**']) {
      expect(count(section, part), part).toBe(1);
    }
    expect(section).toMatch(/`kubectl |```/);
  });

  it.each(ALERTS)('are found by the annotation of $alert', ({ alert }) => {
    const rules = readFileSync(`${PROMETHEUS}${RULE_FILES.alerts}`, 'utf8');
    expect(runbookUrl(alert)).toBe(`${RUNBOOKS}#${alert.toLowerCase()}`);
    expect(count(rules, `runbook_url: ${runbookUrl(alert)}\n`)).toBe(1);
  });
});
