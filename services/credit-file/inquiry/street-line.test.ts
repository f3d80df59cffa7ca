import { expect, test } from 'vitest';
import { streetLineOf } from './street-line.ts';

test.each([
  [['Birch', 'ST', 'NW', 'ON'], 'Birch ST NW'],
  [['Main', '', '', 'ON'], 'Main'],
  [['Sainte-Catherine', 'Rue', 'W', 'QC'], 'Rue Sainte-Catherine O'],
  [['Sainte-Catherine', 'rue', 'SW', 'QC'], 'rue Sainte-Catherine SO'],
  [['du Lac', 'Chemin', '', 'ON'], 'Chemin du Lac'],
  [['Saint-Laurent', 'Boul.', '', 'QC'], 'Boul. Saint-Laurent'],
  [['des Pins', 'Allée', 'E', 'QC'], 'Allée des Pins E'],
  [['du Parc', 'Avenue', '', 'QC'], 'Avenue du Parc'],
  [['Fifth', 'Avenue', 'W', 'BC'], 'Fifth Avenue W'],
  [['Sherbrooke', 'Street', 'W', 'QC'], 'Sherbrooke Street W'],
  [['1re', 'Avenue', '', 'QC'], '1re Avenue'],
  [['12ième', 'Rue', 'W', 'QC'], '12ième Rue O'],
  [['', '', '', 'QC'], ''],
])('%j is "%s"', ([streetName = '', streetType = '', direction = '', province = ''], line) => {
  expect(streetLineOf({ streetName, streetType, direction, province })).toBe(line);
});
