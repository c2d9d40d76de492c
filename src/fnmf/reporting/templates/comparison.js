setUpSorting();
document.documentElement.dataset.ready = "yes";
