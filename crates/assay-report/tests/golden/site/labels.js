// Written by assay site.
self.assayLabels = [["on","on","off","0a","Compared with on, off is: 2 better, 2 worse, 2 equivalent, 2 cannot tell."]];
