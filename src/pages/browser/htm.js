export { html, render, useEffect, useRef, useState } from 'htm/preact/standalone'
