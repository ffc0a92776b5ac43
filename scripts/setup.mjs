import { ensureSetup } from './lib.mjs';

ensureSetup();
