# Draws curves.png: gnuplot curves.gp
set terminal pngcairo size 960,720 font ',11'
set output 'curves.png'
set datafile separator comma
set encoding utf8
set object 1 rectangle from graph 0,0 to graph 1,1 behind fillcolor rgb '#e5e5e5' fillstyle solid noborder
set border 0
set grid xtics ytics back linetype 1 linewidth 1.2 linecolor rgb '#ffffff'
set tics scale 0.6 nomirror out textcolor rgb '#555555'
set xtics 1
set xrange [0.5:8.5]
set key outside right top Left reverse
set style line 1 linecolor rgb '#e24a33' linewidth 2 pointtype 7 pointsize 0.7
set style line 2 linecolor rgb '#348abd' linewidth 2 pointtype 7 pointsize 0.7
set style line 3 linecolor rgb '#e24a33' linewidth 2 dashtype 2
set style line 4 linecolor rgb '#348abd' linewidth 2 dashtype 2
set multiplot layout 2,1 title 'ResNet-20 on CIFAR-10, global batch 256, 8 epochs' font ',14'
set lmargin 10
set rmargin 30
set ylabel 'loss'
plot 'unscaled.csv' using "epoch":"val_loss" with linespoints linestyle 1 title 'rate of batch 64, val', \
     'unscaled.csv' using "epoch":"loss" with lines linestyle 3 title 'rate of batch 64, train', \
     'scaled.csv' using "epoch":"val_loss" with linespoints linestyle 2 title 'scaled rate, val', \
     'scaled.csv' using "epoch":"loss" with lines linestyle 4 title 'scaled rate, train'
set ylabel 'accuracy'
set xlabel 'epoch'
plot 'unscaled.csv' using "epoch":"val_accuracy" with linespoints linestyle 1 title 'rate of batch 64, val', \
     'unscaled.csv' using "epoch":"accuracy" with lines linestyle 3 title 'rate of batch 64, train', \
     'scaled.csv' using "epoch":"val_accuracy" with linespoints linestyle 2 title 'scaled rate, val', \
     'scaled.csv' using "epoch":"accuracy" with lines linestyle 4 title 'scaled rate, train'
