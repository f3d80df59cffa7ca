/** The text styles and colours of a document. */
import type { FontName } from './fonts.ts';

/** Sizes and heights in points, of which 72 are an inch. */
interface TextStyle {
  font: FontName;
  size: number;
  /** From the top of a line to the top of the next. */
  lineHeight: number;
  color: string;
}

export const COLORS = {
  ink: '#1a2233',
  muted: '#5a6376',
  rule: '#c9cfda',
  shade: '#eef1f6',
  accent: '#23508f',
  /** Of a month in which the account was paid as agreed. */
  punctual: '#c5d6ee',
  alert: '#8c1d2f',
  alertShade: '#fbeeee',
  /** From light to dark, so that they differ in a black-and-white print. */
  late: { one: '#f0c36d', two: '#d9772f', severe: '#8c1d2f' },
} as const;

export const STYLES = {
  title: { font: 'bold', size: 20, lineHeight: 25, color: COLORS.ink },
  name: { font: 'bold', size: 13, lineHeight: 17, color: COLORS.ink },
  heading: { font: 'bold', size: 11.5, lineHeight: 15, color: COLORS.accent },
  subheading: { font: 'bold', size: 9, lineHeight: 12, color: COLORS.ink },
  body: { font: 'regular', size: 8.5, lineHeight: 10.5, color: COLORS.ink },
  strong: { font: 'bold', size: 8.5, lineHeight: 10.5, color: COLORS.ink },
  muted: { font: 'regular', size: 8.5, lineHeight: 10.5, color: COLORS.muted },
  alert: { font: 'bold', size: 8.5, lineHeight: 10.5, color: COLORS.alert },
  small: { font: 'regular', size: 7.5, lineHeight: 9.5, color: COLORS.muted },
  /** In a cell of a payment profile. */
  sign: { font: 'bold', size: 6.5, lineHeight: 8, color: COLORS.ink },
  signOnDark: { font: 'bold', size: 6.5, lineHeight: 8, color: '#ffffff' },
  columnTitle: { font: 'bold', size: 7.5, lineHeight: 9.5, color: COLORS.muted },
  figure: { font: 'bold', size: 12.5, lineHeight: 16, color: COLORS.ink },
  score: { font: 'bold', size: 30, lineHeight: 34, color: COLORS.ink },
} as const satisfies Record<string, TextStyle>;

export type StyleName = keyof typeof STYLES;
