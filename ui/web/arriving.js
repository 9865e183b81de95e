// Before anything is drawn: the page is laid out for the collection opened first, so what an address asks for
// instead stays hidden until it is there (where.js).
if (location.search.length > 1) document.documentElement.classList.add("arriving");
