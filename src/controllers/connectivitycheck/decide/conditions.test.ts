import { describe, expect, it } from 'vitest';
import type { RefusedUrls } from '../../../connectivity/protocol/evaluation.ts';
import { findCondition } from '../../../runtime/controller/conditions.ts';
import type { ServerView } from '../observe/observation.ts';
import { answered, evaluation, NOT_ASKED, silent, story } from '../testing/scenes.ts';

const REFUSED: RefusedUrls = { url: 'http://a.example/', address: '169.254.169.254', reason: 'LinkLocal', agents: 6 };
const HEALTHY = answered(evaluation());
const refusing = (...refused: RefusedUrls[]): ServerView => answered({ ...evaluation(), refused });

/** The last status of a story, and its condition. */
function last(...views: ServerView[]) {
  const { status, write } = story(views).at(-1)!;
  return { status, condition: findCondition(write.conditions, 'URLsAllowed') };
}

describe('the condition URLsAllowed', () => {
  it('names URL, address and reason, and what to do; a refused URL changes no verdict and finding', () => {
    const { status, condition } = last(HEALTHY, refusing(REFUSED));
    expect(condition).toMatchObject({ status: 'False', reason: 'AddressRefused' });
    expect(condition?.message).toBe(
      'Not requested: http://a.example/ (169.254.169.254, link-local, 6 agents). Remove the URL, or allow the address in connectivity.allowedTargets of the chart.',
    );
    expect(status).toMatchObject({ verdict: 'Healthy', findings: [], outages: [] });
    expect(findCondition(status.conditions, 'Ready')?.status).toBe('True');
  });

  it('names two URLs at most, and never reaches the limit of a message', () => {
    const url = `http://a.example/${'x'.repeat(1_000)}`;
    const address = 'fd00:1111:2222:3333:4444:5555:6666:7777';
    const long = Array.from({ length: 20 }, (): RefusedUrls => ({
      url,
      address,
      reason: 'OwnAddress',
      agents: 10_000,
    }));
    const { condition } = last(refusing(...long));
    expect(condition?.message).toMatch(/ and 18 more\. Remove the URL/);
    expect(condition?.message.length).toBeLessThan(500);
  });

  it.each<[string, ServerView[], string | undefined]>([
    ['is absent as long as no URL was refused', [NOT_ASKED, HEALTHY], undefined],
    ['is True when no URL is refused any longer', [refusing(REFUSED), HEALTHY], 'True'],
    ['stays while the server has no evaluation', [refusing(REFUSED), answered()], 'False'],
    ['stays while the server is silent', [refusing(REFUSED), silent(2)], 'False'],
    ['is Unknown without a server', [refusing(REFUSED), { ...NOT_ASKED, isDeployed: false }], 'Unknown'],
    ['is absent without a server', [{ ...NOT_ASKED, isDeployed: false }], undefined],
  ])('%s', (_, views, status) => expect(last(...views).condition?.status).toBe(status));
});
