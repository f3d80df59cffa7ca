/** Formats rows as lines of columns: the first column aligned left, the others right. */
export function formatColumns(rows: readonly string[][]): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [index, cell] of row.entries()) {
      widths[index] = Math.max(widths[index] ?? 0, cell.length);
    }
  }
  return rows.map((row) => {
    const cells = row.map((cell, index) => {
      const width = widths[index] ?? 0;
      return index === 0 ? cell.padEnd(width) : cell.padStart(width);
    });
    return cells.join('  ').trimEnd();
  });
}

/** In place of a figure. */
export const NOT_MEASURED = '–';

export function formatMs(value: number | undefined): string {
  return value === undefined ? NOT_MEASURED : `${formatNumber(value)} ms`;
}

export function formatMebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}

/** Formats a number with three significant digits below 100, and without decimals from 100 on. */
export function formatNumber(value: number): string {
  const decimals = value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return value.toLocaleString('en', {
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
  });
}
