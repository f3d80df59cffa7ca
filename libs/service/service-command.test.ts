import { describe, expect, test } from 'vitest';
import { CommandOptionError, readCommandOptions } from './service-command.ts';

const COMMAND = { options: { since: { type: 'string' }, all: { type: 'boolean' } } } as const;

describe('the options of a command', () => {
  test('are read', () => {
    expect(readCommandOptions(['--since', 'noon', '--all'], COMMAND)).toEqual({
      since: 'noon',
      all: true,
    });
  });

  test.each([
    [['--untl', 'noon'], "Unknown option '--untl'"],
    [['noon'], "Unexpected argument 'noon'"],
    [['--since'], "Option '--since <value>' argument missing"],
    [['--since', '-5'], "Option '--since' argument is ambiguous"],
    [['--all=yes'], "Option '--all' does not take an argument"],
  ])('%j are refused in one line that names those that the command takes', (args, problem) => {
    const error = new CommandOptionError(`${problem}; the command takes --since VALUE, --all`);
    expect(() => readCommandOptions(args, COMMAND)).toThrow(error);
  });

  test('are refused for a command that takes none', () => {
    expect(() => readCommandOptions(['--help'], { options: {} })).toThrow(
      new CommandOptionError("Unknown option '--help'; the command takes no options"),
    );
  });

  test('are refused when one is given twice, of which only the last would count', () => {
    const args = ['--since', 'noon', '--since', 'dawn'];
    expect(() => readCommandOptions(args, COMMAND)).toThrow('--since is given twice');
  });
});
