if (!exists("prefix")) prefix = ''
set encoding utf8
$counts << END
0 1 107.56270357650816 107.56270357650816 107.56270357650816 100 1190.0035583333495 0 0 0
END
most = 1
rows = 1
of_one = 107.56270357650816
set terminal pngcairo size 1280,560 font 'DejaVu Sans,12' noenhanced background '#ffffff'
set output prefix.'scaling.png'
set object 1 rectangle from graph 0,0 to graph 1,1 behind fillcolor rgb '#e5e5e5' fillstyle solid noborder
set border 0
set grid xtics ytics back linetype 1 linewidth 1.2 linecolor rgb '#ffffff'
set tics scale 0.6 nomirror out textcolor rgb '#555555'
set multiplot layout 1,2 margins 0.1, 0.77, 0.13, 0.83 spacing 0.09 title 'lstm_synthetic, batch 128 per rank' noenhanced font ',16'
set title 'Speed' font ',13'
set xlabel 'ranks' textcolor rgb '#555555'
set ylabel 'seq/s' textcolor rgb '#555555'
set key inside top left reverse Left spacing 1.3 samplen 2
set xrange [0 : most * 1.14]
set yrange [0 : *]
plot sample [x = 0 : most] of_one * x with lines dashtype 2 linewidth 2 linecolor rgb '#777777' title 'perfect scaling', \
  $counts using 2:3:xtic(2) with lines linewidth 2.5 linecolor rgb '#E24A33' notitle, \
  $counts using 2:3:4:5 with yerrorbars linewidth 2.5 pointtype 7 pointsize 1.2 linecolor rgb '#E24A33' title 'measured', \
  $counts using 2:3:(sprintf('%.0f %%', $6)) with labels left offset 0.8,-0.9 textcolor rgb '#555555' notitle
set title 'Where the time of a step goes' font ',13'
set ylabel 'ms per step' textcolor rgb '#555555'
set key left center at graph 1.02, graph 0.5 reverse Left spacing 1.4 samplen 1.5
set xrange [-0.6 : rows - 0.4]
unset grid
set grid ytics back linetype 1 linewidth 1.2 linecolor rgb '#ffffff'
set offsets 0, 0, graph 0.08, 0
set boxwidth 0.55
set style fill solid 1 noborder
plot $counts using 1:($7 + $8 + $9):xtic(2) with boxes linecolor rgb '#E24A33' title 'communication', \
  $counts using 1:($7 + $8) with boxes linecolor rgb '#FBC15E' title 'data', \
  $counts using 1:7 with boxes linecolor rgb '#348ABD' title 'compute', \
  $counts using 1:($7 + $8 + $9):(sprintf('%.1f', $7 + $8 + $9)) with labels offset 0,0.8 textcolor rgb '#555555' notitle
unset multiplot
unset output
