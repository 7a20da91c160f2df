/** Icon of three streams that join, in the colors of the page. */
export const favicon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#0f3d3e"/><path d="M8 5c0 9 8 7 8 16v6M16 5v22M24 5c0 9-8 7-8 16" fill="none" stroke="#7fe3c4" stroke-width="2.6" stroke-linecap="round"/></svg>`

/**
 * Style sheet applied on top of the explorer's own. It hides what repeats in every response (links, headers of errors)
 * and selections with a single option (server, media type).
 */
export const style = `
:root { --ink: #16302f; --soft: #5a6f6e; --line: #dfe7e5; --paper: #f6f9f8; --brand: #0f6b5c; --get: #0f6b5c; --post: #9a4b00 }
html { scroll-padding-top: 72px; scrollbar-gutter: stable }
body { background: #fff }
.swagger-ui, .swagger-ui .info p, .swagger-ui .info li, .swagger-ui .info td, .swagger-ui .info th, .swagger-ui .info .title,
.swagger-ui .opblock-tag, .swagger-ui .opblock-tag small, .swagger-ui .opblock .opblock-summary-description,
.swagger-ui .opblock-description-wrapper p, .swagger-ui .btn, .swagger-ui table thead tr th, .swagger-ui label,
.swagger-ui .response-col_status, .swagger-ui .parameter__name, .swagger-ui .tab li, .swagger-ui .info h2, .swagger-ui .info h3 {
  font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif; color: var(--ink)
}
.swagger-ui .wrapper { max-width: 1080px; padding: 0 24px }
.swagger-ui code, .swagger-ui .microlight, .swagger-ui .opblock-summary-path, .swagger-ui .parameter__type,
.swagger-ui .highlight-code pre {
  font-family: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace !important
}

.swagger-ui .info { margin: 40px 0 24px }
.swagger-ui .info .title { font-size: 34px; letter-spacing: -0.5px; margin: 0 }
.swagger-ui .info .title small { background: var(--brand); top: -8px; border-radius: 6px; padding: 3px 7px }
.swagger-ui .info .title small.version-stamp { background: var(--soft) }
.swagger-ui .info .title small pre { font-family: inherit }
.swagger-ui .info .link, .swagger-ui .info a { color: var(--brand) }
.swagger-ui .info .info__license { display: none }
.swagger-ui .info .renderedMarkdown > p:first-child { font-size: 18px; color: var(--soft); margin: 8px 0 20px }
.swagger-ui .info h2 { font-size: 20px; margin: 30px 0 10px }
.swagger-ui .info p, .swagger-ui .info li { font-size: 15px; line-height: 1.6; margin: 8px 0; max-width: 78ch }
.swagger-ui .info ol { padding-left: 22px }
.swagger-ui .info table { border-collapse: collapse; margin: 12px 0; width: auto }
.swagger-ui .info table th, .swagger-ui .info table td {
  border-bottom: 1px solid var(--line); padding: 6px 24px 6px 0; text-align: left; font-size: 14px; vertical-align: top
}
.swagger-ui .markdown code, .swagger-ui .renderedMarkdown code {
  background: var(--paper); border: 1px solid var(--line); border-radius: 4px; color: var(--ink); font-size: 0.88em;
  font-weight: 400; padding: 1px 5px
}
.swagger-ui .renderedMarkdown pre, .swagger-ui .markdown pre {
  background: #0d2424; border-radius: 8px; margin: 12px 0; padding: 14px 16px; overflow-x: auto; white-space: pre
}
.swagger-ui .renderedMarkdown pre code, .swagger-ui .markdown pre code {
  background: none; border: 0; color: #d6efe8; font-size: 13px; line-height: 1.55; padding: 0
}

.swagger-ui .scheme-container {
  background: rgba(255, 255, 255, 0.94); border-bottom: 1px solid var(--line); box-shadow: none; margin: 0 0 12px;
  padding: 10px 0; position: sticky; top: 0; z-index: 5
}
.swagger-ui .scheme-container .schemes { align-items: center }
.swagger-ui .scheme-container .schemes .schemes-server-container { display: none }
.swagger-ui .scheme-container .auth-wrapper { margin-left: auto }
.swagger-ui .scheme-container .auth-wrapper::before {
  align-self: center; content: "The requests below are sent with the key entered here."; color: var(--soft); font-size: 14px; margin-right: 16px
}
.swagger-ui .btn.authorize { border-color: var(--brand); border-radius: 8px; color: var(--brand); box-shadow: none; margin: 0 }
.swagger-ui .btn.authorize svg { fill: var(--brand) }
.swagger-ui .btn.execute { background: var(--brand); border-color: var(--brand); color: #fff; border-radius: 8px }
.swagger-ui .execute-wrapper, .swagger-ui .btn-group { justify-content: flex-start; padding: 8px 20px 20px; text-align: left }
.swagger-ui .execute-wrapper .btn.execute, .swagger-ui .btn-group .btn { flex: 0 0 auto; min-width: 160px; width: auto }
.swagger-ui .dialog-ux .modal-ux { border: 0; border-radius: 12px }
.swagger-ui .auth-container input[type="text"], .swagger-ui .auth-container input[type="password"] { min-width: 100% }
.swagger-ui .auth-container h4 { display: none }
.swagger-ui .auth-container .wrapper { padding: 0 }

.swagger-ui .opblock-tag { border-bottom: 0; font-size: 20px; margin: 22px 0 6px; padding: 6px 0 }
.swagger-ui .opblock-tag small { color: var(--soft); font-size: 14px; padding: 0 12px }
.swagger-ui .opblock, .swagger-ui .opblock.opblock-get, .swagger-ui .opblock.opblock-post {
  background: #fff; border: 1px solid var(--line); border-radius: 10px; box-shadow: none; margin: 0 0 8px; overflow: hidden
}
.swagger-ui .opblock .opblock-summary, .swagger-ui .opblock.opblock-get .opblock-summary, .swagger-ui .opblock.opblock-post .opblock-summary {
  border-color: var(--line); padding: 6px 8px
}
.swagger-ui .opblock .opblock-summary:hover, .swagger-ui .opblock.is-open .opblock-summary { background: var(--paper) }
.swagger-ui .opblock .opblock-summary-method { border-radius: 6px; font-size: 12px; min-width: 58px; padding: 5px 0 }
.swagger-ui .opblock.opblock-get .opblock-summary-method { background: var(--get) }
.swagger-ui .opblock.opblock-post .opblock-summary-method { background: var(--post) }
.swagger-ui .opblock .opblock-summary-path { color: var(--ink); font-size: 15px; font-weight: 600 }
.swagger-ui .opblock .opblock-summary-description { color: var(--soft); font-size: 14px }
.swagger-ui .opblock .opblock-section-header { background: var(--paper); box-shadow: none; min-height: 44px; padding: 4px 20px }
.swagger-ui .opblock.opblock-get .tab-header .tab-item.active h4 span::after,
.swagger-ui .opblock.opblock-post .tab-header .tab-item.active h4 span::after { background: var(--brand) }
.swagger-ui .opblock-description-wrapper { margin: 0; padding: 14px 20px }
.swagger-ui .opblock-description { margin: 0 }
.swagger-ui .opblock-description-wrapper p { font-size: 15px; line-height: 1.55; margin: 0 0 8px; max-width: 80ch }
.swagger-ui .parameters-col_name { width: 170px }
.swagger-ui .parameter__name { font-size: 14px; font-weight: 600 }
.swagger-ui .parameter__in, .swagger-ui .parameter__deprecated { display: none }
.swagger-ui .parameters-col_description p { color: var(--soft); font-size: 14px; margin: 0 0 6px }
.swagger-ui .parameters-col_description input[type="text"], .swagger-ui select {
  border: 1px solid #b9c8c5; border-radius: 6px; box-shadow: none; max-width: 420px
}

.swagger-ui .responses-table .response-col_links, .swagger-ui .response-control-media-type { display: none }
.swagger-ui .responses-table .response:not([data-code^="2"]) .response-col_description > div:nth-child(n + 3) { display: none }
.swagger-ui .responses-inner { padding: 16px 20px }
.swagger-ui .responses-inner h4, .swagger-ui .responses-inner h5 { color: var(--ink); margin: 10px 0 6px }
.swagger-ui .response-col_status { font-weight: 600 }
.swagger-ui .response-col_description p { font-size: 15px; margin: 0 0 4px }
.swagger-ui .responses-table tbody tr td { border-top: 1px solid var(--line); padding: 12px 0 }
.swagger-ui .opblock-body pre.microlight, .swagger-ui .curl-command .curl, .swagger-ui .request-url pre { background: #0d2424 !important; border-radius: 8px }
.swagger-ui .highlight-code > .microlight, .swagger-ui .highlight-code pre { background: #0d2424 !important; border-radius: 8px; max-height: 420px }
.swagger-ui .model-example .tab { margin: 6px 0 }
.swagger-ui section.models { border: 1px solid var(--line); border-radius: 10px; margin: 32px 0 64px }
.swagger-ui section.models h4 { color: var(--ink) }
@media (max-width: 700px) { .swagger-ui .scheme-container .auth-wrapper::before { display: none } }
`
