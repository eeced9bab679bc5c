import { expect, it } from 'vitest';
import { renderText } from './template.ts';

const VARIABLES = { self: { name: 'db', replicas: 3, addresses: ['a', 'b'] } };

it.each([
  ['no expression', 'plain $HOME { }', 'plain $HOME { }'],
  ['expressions', 'n=${self.name} r=${self.replicas}', 'n=db r=3'],
  ['a list that is joined', '${self.addresses.map(a, "server " + a).join("\\n")}', 'server a\nserver b'],
  ['braces in an expression', '${{"x": "}"}["x"]}!', '}!'],
  ['a quote within a string', String.raw`\${"a\"}"}`.slice(1), 'a"}'],
  ['an expression that is meant as text', 'echo $${HOME} ${self.name}', 'echo ${HOME} db'],
  ['a bool', '${self.replicas > 1}', 'true'],
])('renders %s', (_, template, text) => {
  expect(renderText(template, VARIABLES)).toStrictEqual({ text });
});

it.each([
  [
    'a variable of a shell',
    'a\nexec ${COMMAND}',
    'line 2: ${COMMAND}: Unknown variable: COMMAND; write "$${" for the text "${"',
  ],
  ['no end', '\n\n${self.name', 'line 3: the "${" has no "}"; write "$${" for the text "${"'],
  [
    'a list',
    '${self.addresses}',
    'line 1: ${self.addresses}: must give a string, a number or a bool; join a list, as in self.addresses.join(",")',
  ],
])('says what is wrong: %s', (_, template, problem) => {
  expect(renderText(template, VARIABLES)).toStrictEqual({ problem });
});
