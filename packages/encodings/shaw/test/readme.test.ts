import { testReadme } from '../../../../readme.shared.ts';

testReadme(import.meta.url);
